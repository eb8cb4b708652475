"""Building blocks that several pages share: tables, filters, labels, keys.

A page itself belongs in `dashboard/app_pages/`, a chart in `dashboard/charts/`.
"""
