"""What runs in the browser: components of our own as plain JavaScript modules, and the little library they share."""
