import type { Chance } from "./chance.ts";
import type { FaultyDatabase } from "./faulty-database.ts";
import { type Moment, OCCASIONS, type Occasion } from "./moments.ts";
import { LOSSES } from "./take-over.ts";

/** The server's fault in a round. Times are ms. */
export type Fault =
  | { readonly do: "kill" }
  /** SIGTERM; killed if that takes too long. */
  | { readonly do: "stop" }
  /** SIGSTOP, and then the next step. */
  | { readonly do: "pause"; readonly ms: number; readonly next: "kill" | "settle"; readonly laterMs: number }
  /** The storage fails; `hangUp`: live calls are ended during the outage. */
  | {
      readonly do: "outage";
      readonly outage: string;
      readonly ms: number;
      readonly next: "kill" | "stop" | "settle";
      readonly hangUp: boolean;
    }
  /** A second server waits for the database, and the first one loses it. */
  | { readonly do: "take over"; readonly loss: (typeof LOSSES)[number] }
  /** All work settles, then the server stops gracefully. */
  | { readonly do: "settle" };

export interface Plan {
  readonly moment: Moment;
  readonly fault: Fault;
}

/** A round's plan for a database. */
export function planRound(chance: Chance, database: Pick<FaultyDatabase, "outages" | "secondEnv">): Plan {
  const fault = planFault(chance, database);
  return { moment: planMoment(chance, fault), fault };
}

function planFault(chance: Chance, { outages, secondEnv }: Pick<FaultyDatabase, "outages" | "secondEnv">): Fault {
  if (secondEnv && chance.boolean(0.12)) return { do: "take over", loss: chance.pick(LOSSES) };
  const kind = chance.next();
  if (kind < 0.36) return { do: "kill" };
  if (kind < 0.44) return { do: "stop" };
  if (kind < 0.53)
    return {
      do: "pause",
      ms: chance.integer(20, 200),
      next: chance.pick(["kill", "settle"]),
      laterMs: chance.pick([0, 0, 50]),
    };
  if (kind < 0.56) return { do: "settle" };
  return {
    do: "outage",
    outage: chance.pick(outages),
    ms: chance.integer(10, 250),
    next: chance.pick(["kill", "stop", "settle", "settle"]),
    hangUp: chance.boolean(0.4),
  };
}

/** Chooses the moment of a fault: half are at an INVITE, and outages are often during a deletion. */
function planMoment(chance: Chance, fault: Fault): Moment {
  const canDelete = fault.do === "outage" && chance.boolean(/instances/.test(fault.outage) ? 0.9 : 0.3);
  const isAtInvite = chance.boolean(0.5);
  const otherOccasion = chance.pick(OCCASIONS);
  const occasion: Occasion = canDelete ? "a deletion request" : isAtInvite ? "an INVITE" : otherOccasion;
  const isRare = /link|deletion/.test(occasion);
  const afterMs = chance.boolean(0.5) ? 0 : chance.integer(1, 10);
  return { occasion, nth: isRare ? 1 : chance.integer(1, 6), afterMs };
}

/** The plan in words. */
export function planText({ moment: { occasion, nth, afterMs }, fault }: Plan): string {
  return `${faultText(fault)}, ${afterMs} ms after ${occasion} (number ${nth})`;
}

function faultText(fault: Fault): string {
  switch (fault.do) {
    case "kill":
      return "kill -9";
    case "stop":
      return "SIGTERM";
    case "pause":
      return `SIGSTOP for ${fault.ms} ms, then ${fault.next}`;
    case "outage":
      return `${fault.outage} for ${fault.ms} ms${fault.hangUp ? ", live calls are ended during it" : ""}, then ${fault.next}`;
    case "take over":
      return `${fault.loss}, and a second server takes over`;
    case "settle":
      return "no fault";
  }
}
