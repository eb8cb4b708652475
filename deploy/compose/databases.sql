-- Run once by PostgreSQL's image, when its volume is new. Prefect has a database of its own, and wants this extension.
CREATE DATABASE prefect;
\connect prefect
CREATE EXTENSION IF NOT EXISTS pg_trgm;
