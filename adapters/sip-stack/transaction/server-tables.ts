import type { Table } from "./machine.ts";

/** States of a server transaction (RFC 3261 sections 17.2.1 and 17.2.2). */
export type ServerState =
  | "trying"
  | "proceeding"
  | "completed"
  | "confirmed"
  /** Our 2xx was sent, and is retransmitted until its ACK comes. */
  | "accepted"
  /** The ACK of our 2xx has come; retransmissions of the request may still come. */
  | "acknowledged"
  | "terminated";

export type ServerInput =
  /** A retransmission of the request. */
  | "request"
  | "1xx"
  | "2xx"
  | "300-699"
  | "ack"
  | "start"
  /** 200 ms without a response from the transaction user (RFC 3261 section 17.2.1). */
  | "timer 100"
  | "timer G"
  | "timer H"
  | "timer I"
  | "timer J"
  | "timer L";

export type ServerAction =
  /** Sends the response just given. */
  | "send"
  /** Retransmits the last response. */
  | "resend"
  | "send 100"
  /** Passes the ACK to a 2xx to the transaction user. */
  | "pass ack"
  | "unacknowledged"
  | "set 100"
  | "set G"
  | "double G"
  /** As G, but on a reliable transport too: a 2xx is retransmitted end to end. */
  | "set G always"
  | "set H"
  | "set I"
  | "set J"
  | "set L";

type ServerTable = Table<ServerState, ServerInput, ServerAction>;

/**
 * INVITE: figure 7 of RFC 3261 with the accepted state of RFC 6026; the transaction retransmits the 2xx (RFC 3261 section
 * 13.3.1.4).
 */
export const INVITE_SERVER: ServerTable = {
  proceeding: {
    start: { to: "proceeding", do: ["set 100"] },
    "timer 100": { to: "proceeding", do: ["send 100"] },
    request: { to: "proceeding", do: ["resend"] },
    "1xx": { to: "proceeding", do: ["send"] },
    "2xx": { to: "accepted", do: ["send", "set G always", "set L"] },
    "300-699": { to: "completed", do: ["send", "set G", "set H"] },
  },
  accepted: {
    request: { to: "accepted", do: ["resend"] },
    "timer G": { to: "accepted", do: ["resend", "double G"] },
    ack: { to: "acknowledged", do: ["pass ack"] },
    "timer L": { to: "terminated", do: ["unacknowledged"] },
  },
  acknowledged: {
    ack: { to: "acknowledged", do: ["pass ack"] },
    "timer L": { to: "terminated", do: [] },
  },
  completed: {
    request: { to: "completed", do: ["resend"] },
    "timer G": { to: "completed", do: ["resend", "double G"] },
    ack: { to: "confirmed", do: ["set I"] },
    "timer H": { to: "terminated", do: [] },
  },
  confirmed: {
    "timer I": { to: "terminated", do: [] },
  },
  trying: {},
  terminated: {},
};

/** Every other method: figure 8 of RFC 3261. */
export const NON_INVITE_SERVER: ServerTable = {
  trying: {
    "1xx": { to: "proceeding", do: ["send"] },
    "2xx": { to: "completed", do: ["send", "set J"] },
    "300-699": { to: "completed", do: ["send", "set J"] },
  },
  proceeding: {
    request: { to: "proceeding", do: ["resend"] },
    "1xx": { to: "proceeding", do: ["send"] },
    "2xx": { to: "completed", do: ["send", "set J"] },
    "300-699": { to: "completed", do: ["send", "set J"] },
  },
  completed: {
    request: { to: "completed", do: ["resend"] },
    "timer J": { to: "terminated", do: [] },
  },
  confirmed: {},
  accepted: {},
  acknowledged: {},
  terminated: {},
};
