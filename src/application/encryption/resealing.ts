import { SEALED_KINDS, type SealedKind, type SealedPlace } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import { sealedHeadersId } from "./sealed-headers.ts";
import { recordId } from "./sealed-records.ts";

type ResealingContext = Pick<Context, "log" | "shutdownSignal" | "storage" | "system" | "vault">;

/** Maximum number of values in memory at the same time; each has up to 1 MiB. */
const PAGE_SIZE = 20;

/**
 * Seals with the current key everything that was sealed with a previous key. Values that change in the meantime are
 * sealed with the current key anyway. Ends early, without an error, once the process stops; the next start continues.
 */
export async function resealAll(context: ResealingContext): Promise<void> {
  const { log, shutdownSignal } = context;
  const counts = { resealed: 0, unreadable: 0 };
  try {
    for (const kind of SEALED_KINDS) await resealKind(context, kind, counts);
  } catch (error) {
    if (!shutdownSignal.aborted) log.error({ err: error }, "not everything could be sealed with the current key");
    return;
  }
  if (counts.unreadable > 0) {
    log.warn(counts, "no key opens some sealed values: add the key that they were sealed with to the previous secrets");
    return;
  }
  log.info(
    counts,
    "everything is sealed with the current key; remove the previous secrets once no server of this database seals with them",
  );
}

async function resealKind(
  context: ResealingContext,
  kind: SealedKind,
  counts: { resealed: number; unreadable: number },
) {
  const { sealed } = context.storage;
  let after: SealedPlace | undefined;
  for (;;) {
    context.shutdownSignal.throwIfAborted();
    const values = await retryUntilStored(context, "the list of sealed values", () =>
      sealed.list(kind, PAGE_SIZE, after),
    );
    for (const value of values) {
      const outcome = await context.vault.reseal(sealingIdOf(kind, value), value.sealed);
      if (outcome === "current") continue;
      if (outcome === "unreadable") counts.unreadable++;
      else if (await retryUntilStored(context, "a sealed value", () => sealed.replace(kind, value, outcome)))
        counts.resealed++;
    }
    after = values.at(-1);
    if (values.length < PAGE_SIZE) return;
  }
}

function sealingIdOf(kind: SealedKind, { id, key }: SealedPlace): string {
  if (kind === "line_record") return recordId(id, key);
  return kind === "webhook_headers" ? sealedHeadersId(id) : id;
}
