#![no_main]

manyview_libfuzzer::target!("manifest");
