//! Tests of the editor: keys go in, effects run at once, rows and screens are compared.

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
