/**
 * A session has one goal at most; a goal that was cleared keeps its row, with its revision. A fence is never removed,
 * and an operation is fenced once. A message says for which turn of which goal it is.
 */
export const GOALS = `
  CREATE TABLE goals (
    session_id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    desired TEXT CHECK (json_valid(desired)),
    observed TEXT CHECK (json_valid(observed)),
    observed_at INTEGER,
    operation_id TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1),
    repair_epoch INTEGER NOT NULL CHECK (repair_epoch >= 0),
    sync_status TEXT NOT NULL
      CHECK (sync_status IN ('pending', 'applying', 'synced', 'diverged', 'failed', 'unknown')),
    pending_operation_id TEXT,
    turns_used INTEGER NOT NULL CHECK (turns_used >= 0),
    last_check TEXT CHECK (json_valid(last_check)),
    last_error TEXT,
    incidents TEXT NOT NULL CHECK (json_valid(incidents)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL CHECK (updated_at >= created_at),
    version INTEGER NOT NULL CHECK (version >= 1)
  ) STRICT;
  CREATE INDEX goals_active ON goals (session_id) WHERE desired ->> '$.status' = 'active';

  CREATE TABLE goal_fences (
    session_id TEXT NOT NULL,
    target_operation_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1),
    repair_epoch INTEGER NOT NULL CHECK (repair_epoch >= 0),
    operation_id TEXT NOT NULL UNIQUE,
    reason TEXT NOT NULL,
    installed_launch_id TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, target_operation_id)
  ) STRICT;

  ALTER TABLE messages ADD COLUMN goal TEXT CHECK (json_valid(goal));
`;
