"""Pages to send: HTML files with their pictures inside, which open without a server and without scripts."""
