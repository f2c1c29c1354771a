import type { Telephony } from "../../ports/telephony.ts";

/** Reason why a part of the contract cannot be tested with this network. */
export interface Skip {
  readonly skip: string;
}

/** Numbers whose callees behave in a known way. */
export interface ContractNumbers {
  /** Answers within `patienceMs` and listens for at least 5 s. */
  readonly answers: string;
  readonly busy: string | Skip;
  /** Rings and never answers. */
  readonly rings: string | Skip;
  readonly declines: string | Skip;
  /** Answers, then hangs up. */
  readonly hangsUp: string | Skip;
  /** Does not exist. */
  readonly unknown: string | Skip;
  /** Answers and speaks. */
  readonly speaks: string | Skip;
  /** Answers and presses `keys`. */
  readonly presses: { readonly number: string; readonly keys: string } | Skip;
}

/** Numbers that a call to `answers` is transferred to. */
export interface ContractTransfer {
  /** Answers within `patienceMs`. */
  readonly to: string;
  /** Refuses within `patienceMs`. */
  readonly refusing: string | Skip;
}

/** The network under test, new for each test. */
export interface ContractSubject {
  readonly telephony: Telephony;
  /** Acts as the person with the linking code; omit it if `link()` needs no person. */
  scan?(payload: string): Promise<void>;
  /** The audio that the callee of an ended call received, at the leg's rate; omit it if that is unknown. */
  heard?(callId: string): Promise<Int16Array>;
  /** Called after the telephony has been closed. */
  close(): Promise<void>;
}

/** Options of `telephonyContract`. */
export interface ContractOptions {
  readonly create: () => Promise<ContractSubject>;
  /** A network with a lasting fault, such as a wrong password; omit it if there is none. */
  readonly broken?: (() => Promise<ContractSubject>) | Skip;
  readonly numbers: ContractNumbers;
  /** Longest wait for a line to come online and for a callee to answer or hang up, ms. */
  readonly patienceMs: number;
  /** Way in which the network's numbers are linked (`capabilities.linking`). Default: `code`. */
  readonly linking?: "code" | "operator";
  /** Transfers of a network that can transfer calls (`capabilities.transfers`); omit it if it cannot. */
  readonly transfer?: ContractTransfer | Skip;
  /** Reason why the network shows no linking codes; omit it if it does, or if the operator links. */
  readonly codes?: Skip;
  /**
   * Reason why the person with the code may learn of the link before it is stored; omit it if the network waits until
   * the link is stored.
   */
  readonly confirmation?: Skip;
  /** Reason why the audio that a callee received is unknown; omit it if it is known. */
  readonly hearing?: Skip;
  /** True if the callee receives exactly the samples that were sent, because no codec is used. */
  readonly lossless?: boolean;
}
