import type { Table } from "./machine.ts";

export type ClientState =
  /** Sent; nothing has come. Figure 6 calls it trying for other methods. */
  | "calling"
  | "trying"
  /** Cancelled before anything came: the CANCEL waits for a provisional response. */
  | "withdrawn"
  | "proceeding"
  /** As proceeding, with a CANCEL on its way. */
  | "cancelling"
  | "completed"
  /** A 2xx has come; more may, from other forks (RFC 6026). */
  | "accepted"
  /** We gave up without a final response; the far side may not know and is told when it shows itself. */
  | "timed out"
  | "terminated";

export type ClientInput =
  | "start"
  | "1xx"
  | "2xx"
  | "300-699"
  | "cancel"
  /** The network says that nobody is there: the datagram was lost, the peer may yet come back. */
  | "refused"
  /** The connection is gone. */
  | "connection lost"
  | "timer A"
  | "timer B"
  | "timer D"
  | "timer E"
  | "timer F"
  | "timer K"
  | "timer M"
  /** Nothing has come for a while on a connection that has worked before. */
  | "timer silence"
  /** Indeed nothing: the connection seems dead. */
  | "silent"
  /** 64 * T1 after a CANCEL (RFC 3261 section 9.1). */
  | "timer cancel"
  /** 64 * T1 after we gave up. */
  | "timer late";

export type ClientAction =
  | "send"
  /** To the listener. */
  | "provisional"
  | "final"
  | "report timeout"
  /** As `report timeout`, but only the connection is to blame. */
  | "seems dead"
  | "judge silence"
  | "lost"
  /** A 2xx that comes after the final response: to whoever deals with those. */
  | "late 2xx"
  | "ack"
  | "send CANCEL"
  /** On a new connection, since the old one is gone. */
  | "CANCEL elsewhere"
  | "set A"
  | "double A"
  | "set B"
  | "set D"
  | "set E"
  | "double E"
  | "E at T2"
  | "set F"
  | "set silence"
  | "set K"
  | "set M"
  | "set cancel"
  | "set late";

type ClientTable = Table<ClientState, ClientInput, ClientAction>;

/**
 * INVITE: figure 5 of RFC 3261 with RFC 6026's accepted state. Ours are the states in between for CANCEL, and `timed out`; a 2xx
 * in `completed` is a fork that answered after all.
 */
export const INVITE_CLIENT: ClientTable = {
  calling: {
    start: { to: "calling", do: ["set A", "set B", "set silence", "send"] },
    "timer A": { to: "calling", do: ["double A", "send"] },
    "timer silence": { to: "calling", do: ["judge silence"] },
    silent: { to: "timed out", do: ["set late", "seems dead"] },
    "timer B": { to: "timed out", do: ["set late", "report timeout"] },
    refused: { to: "timed out", do: ["set late", "lost"] },
    "connection lost": { to: "timed out", do: ["set late", "lost"] },
    cancel: { to: "withdrawn", do: [] },
    "1xx": { to: "proceeding", do: ["provisional"] },
    "2xx": { to: "accepted", do: ["set M", "final"] },
    "300-699": { to: "completed", do: ["ack", "set D", "final"] },
  },
  withdrawn: {
    "timer A": { to: "withdrawn", do: ["double A", "send"] },
    "timer B": { to: "timed out", do: ["set late", "report timeout"] },
    refused: { to: "timed out", do: ["set late", "lost"] },
    "connection lost": { to: "timed out", do: ["set late", "lost"] },
    "1xx": { to: "cancelling", do: ["send CANCEL", "set cancel", "provisional"] },
    "2xx": { to: "accepted", do: ["set M", "final"] },
    "300-699": { to: "completed", do: ["ack", "set D", "final"] },
  },
  proceeding: {
    cancel: { to: "cancelling", do: ["send CANCEL", "set cancel"] },
    "connection lost": { to: "timed out", do: ["set late", "CANCEL elsewhere", "lost"] },
    "1xx": { to: "proceeding", do: ["provisional"] },
    "2xx": { to: "accepted", do: ["set M", "final"] },
    "300-699": { to: "completed", do: ["ack", "set D", "final"] },
  },
  cancelling: {
    "timer cancel": { to: "timed out", do: ["set late", "report timeout"] },
    "connection lost": { to: "timed out", do: ["set late", "CANCEL elsewhere", "lost"] },
    "1xx": { to: "cancelling", do: ["provisional"] },
    "2xx": { to: "accepted", do: ["set M", "final"] },
    "300-699": { to: "completed", do: ["ack", "set D", "final"] },
  },
  completed: {
    "300-699": { to: "completed", do: ["ack"] },
    "2xx": { to: "accepted", do: ["set M", "late 2xx"] },
    "timer D": { to: "terminated", do: [] },
  },
  accepted: {
    "2xx": { to: "accepted", do: ["late 2xx"] },
    "timer M": { to: "terminated", do: [] },
  },
  "timed out": {
    "1xx": { to: "timed out", do: ["send CANCEL"] },
    "2xx": { to: "accepted", do: ["set M", "late 2xx"] },
    "300-699": { to: "completed", do: ["ack", "set D"] },
    "timer late": { to: "terminated", do: [] },
  },
  trying: {},
  terminated: {},
};

/** Every other method: figure 6 of RFC 3261. */
export const NON_INVITE_CLIENT: ClientTable = {
  trying: {
    start: { to: "trying", do: ["set E", "set F", "send"] },
    "timer E": { to: "trying", do: ["double E", "send"] },
    "timer F": { to: "terminated", do: ["report timeout"] },
    refused: { to: "terminated", do: ["lost"] },
    "connection lost": { to: "terminated", do: ["lost"] },
    "1xx": { to: "proceeding", do: ["provisional"] },
    "2xx": { to: "completed", do: ["set K", "final"] },
    "300-699": { to: "completed", do: ["set K", "final"] },
  },
  proceeding: {
    "timer E": { to: "proceeding", do: ["E at T2", "send"] },
    "timer F": { to: "terminated", do: ["report timeout"] },
    "connection lost": { to: "terminated", do: ["lost"] },
    "1xx": { to: "proceeding", do: ["provisional"] },
    "2xx": { to: "completed", do: ["set K", "final"] },
    "300-699": { to: "completed", do: ["set K", "final"] },
  },
  completed: {
    "timer K": { to: "terminated", do: [] },
  },
  calling: {},
  withdrawn: {},
  cancelling: {},
  accepted: {},
  "timed out": {},
  terminated: {},
};
