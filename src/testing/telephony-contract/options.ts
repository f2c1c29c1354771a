import type { Telephony } from "../../ports/telephony.ts";

/** Why a part of the contract cannot be tried with this network. */
export interface Skip {
  readonly skip: string;
}

/** Numbers whose far ends behave in a known way. */
export interface ContractNumbers {
  /** Answers within `patienceMs` and listens for 5 s at least. */
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

/** A network to be tested, new for each test. */
export interface ContractSubject {
  readonly telephony: Telephony;
  /** Acts as the person with the linking code; omit it if `link()` needs nobody. */
  scan?(payload: string): Promise<void>;
  /** The audio that the far end of an ended call received, at the leg's rate; omit it if that is unknown. */
  heard?(callId: string): Promise<Int16Array>;
  /** After the telephony has been closed. */
  close(): Promise<void>;
}

/** What the contract of a telephony needs to know before the first test. */
export interface ContractOptions {
  readonly create: () => Promise<ContractSubject>;
  /** A network with a fault that will not pass by itself, such as a wrong password; left out when it has none. */
  readonly broken?: (() => Promise<ContractSubject>) | Skip;
  readonly numbers: ContractNumbers;
  /** How long a line may take to come online, a far end to answer or to hang up, ms. */
  readonly patienceMs: number;
  /** How the network's numbers are linked (`capabilities.linking`). Default: `code`. */
  readonly linking?: "code" | "operator";
  /** Why the network shows no linking codes; omit it if it does, or if the operator links. */
  readonly codes?: Skip;
  /** Why it is unknown what a far end received; omit it if the subject knows. */
  readonly hearing?: Skip;
  /** Without a codec: the far end receives exactly the samples that were sent. */
  readonly lossless?: boolean;
}
