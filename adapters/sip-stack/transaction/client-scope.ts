import type { SipRequest, SipResponse } from "../message/message.ts";
import type { System } from "../ports.ts";
import type { FailedHops } from "../transport/failed-hops.ts";
import type { Resolve } from "../transport/resolve.ts";
import type { Flow, Transports } from "../transport/transport.ts";
import type { ChosenHops } from "./chosen-hops.ts";
import type { ClientRequest } from "./client-request.ts";
import type { ClientTransaction, Patience, TransactionOwner } from "./client-transaction.ts";
import type { TcpInstead } from "./tcp-instead.ts";
import type { SipTimers } from "./timers.ts";

/** Shared by all client transactions of a trunk (RFC 3261 section 17.1). */
export interface ClientScope {
  readonly system: System;
  readonly timers: SipTimers;
  readonly transports: Transports;
  readonly resolve: Resolve;
  readonly failedHops: FailedHops;
  readonly chosenHops: ChosenHops;
  readonly tcpInstead: TcpInstead;
  /** A registered client transaction, not started yet. */
  open(request: SipRequest, flow: Flow, patience: Patience, owner: TransactionOwner): ClientTransaction;
  late(response: SipResponse, flow: Flow): void;
  /** The request got its final response, or failed. */
  done(request: ClientRequest): void;
}
