"""The pages of the guide, run as their readers run them: each console block, compared with what the page shows."""
