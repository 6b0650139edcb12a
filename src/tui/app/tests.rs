//! Tests of the editor: they type keys, execute effects immediately, and compare rows and screens.

mod bench;
mod cells;
mod changes;
mod data;
mod details;
mod dialogs;
mod files;
mod fixes;
mod journal;
mod large;
mod lists;
mod many;
#[cfg(feature = "net")]
mod open_url;
mod outside;
#[cfg(feature = "net")]
mod probe;
mod rows;
mod saves;
mod screens;
mod view;
