#![no_main]

manyview_libfuzzer::target!("model");
