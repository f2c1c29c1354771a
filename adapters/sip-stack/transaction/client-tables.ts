import type { TransactionTable } from "./transaction-machine.ts";

/** States of a client transaction (RFC 3261 sections 17.1.1.2 and 17.1.2.2). */
export type ClientState =
  /** Sent, without a response. Figure 6 calls it trying for other methods. */
  | "calling"
  | "trying"
  /** Cancelled before any response: the CANCEL waits for a provisional response. */
  | "withdrawn"
  | "proceeding"
  /** Like proceeding, with a pending CANCEL. */
  | "cancelling"
  | "completed"
  /** A 2xx has arrived; other forks may send more (RFC 6026). */
  | "accepted"
  /** Given up without a final response; a late provisional response triggers a CANCEL. */
  | "timed out"
  | "terminated";

export type ClientInput =
  | "start"
  | "1xx"
  | "2xx"
  | "300-699"
  | "cancel"
  /** The network reports that the peer is unreachable: the datagram was lost, but the peer may return. */
  | "refused"
  /** The connection is lost. */
  | "connection lost"
  | "timer A"
  | "timer B"
  | "timer D"
  | "timer E"
  | "timer F"
  | "timer K"
  | "timer M"
  /** The time after which a connection without a response is checked for any data. */
  | "timer silence"
  /** No data arrived: the connection seems dead. */
  | "silent"
  /** 64 * T1 after a CANCEL (RFC 3261 section 9.1). */
  | "timer cancel"
  /** The end of the time for late responses, 64 * T1 after we gave up. */
  | "timer late";

export type ClientAction =
  | "send"
  /** Passes the response to the owner. */
  | "provisional"
  | "final"
  | "report timeout"
  /** Like `report timeout`, but blames the connection. */
  | "seems dead"
  | "judge silence"
  | "lost"
  /** Passes a 2xx that arrives after the final response to the owner. */
  | "late 2xx"
  | "ack"
  | "send CANCEL"
  /** Sends CANCEL on a new connection, since the old one is closed. */
  | "CANCEL on new connection"
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

type ClientTable = TransactionTable<ClientState, ClientInput, ClientAction>;

/**
 * INVITE: figure 5 of RFC 3261 with the accepted state of RFC 6026. The states for CANCEL and `timed out` are
 * additions; a 2xx in `completed` comes from another fork.
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
    "connection lost": { to: "timed out", do: ["set late", "CANCEL on new connection", "lost"] },
    "1xx": { to: "proceeding", do: ["provisional"] },
    "2xx": { to: "accepted", do: ["set M", "final"] },
    "300-699": { to: "completed", do: ["ack", "set D", "final"] },
  },
  cancelling: {
    "timer cancel": { to: "timed out", do: ["set late", "report timeout"] },
    "connection lost": { to: "timed out", do: ["set late", "CANCEL on new connection", "lost"] },
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
