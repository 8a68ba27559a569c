// Start.

watchScrolls();
