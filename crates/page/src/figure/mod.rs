//! Single figures at the width of a paper's column.
