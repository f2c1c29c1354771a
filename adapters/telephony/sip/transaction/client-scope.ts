import type { System } from "../../../../src/ports/system.ts";
import type { SipRequest, SipResponse } from "../message/message.ts";
import type { FailedHops } from "../transport/failed-hops.ts";
import type { Resolve } from "../transport/resolve.ts";
import type { Flow, Transports } from "../transport/transport.ts";
import type { ChosenHops } from "./chosen-hops.ts";
import type { ClientRequest } from "./client-request.ts";
import type { ClientTransaction, Patience, TransactionOwner } from "./client-transaction.ts";
import type { TcpInstead } from "./tcp-instead.ts";
import type { SipTimers } from "./timers.ts";

/** What the requests of a trunk have in common. */
export interface ClientScope {
  readonly system: System;
  readonly timers: SipTimers;
  readonly transports: Transports;
  readonly resolve: Resolve;
  readonly failedHops: FailedHops;
  readonly chosenHops: ChosenHops;
  readonly tcpInstead: TcpInstead;
  /** An transaction whose responses find it; yet to be started. */
  open(request: SipRequest, flow: Flow, patience: Patience, owner: TransactionOwner): ClientTransaction;
  late(response: SipResponse, flow: Flow): void;
  /** The request has had its final response, or failed. */
  done(request: ClientRequest): void;
}
