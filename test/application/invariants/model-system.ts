import { nextTurn } from "../../../src/audio/next-turn.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

let working = 0;

/** Counts the cryptography under way, which runs in other threads: a run is at rest only when it is done. */
function countCryptography(): void {
  const subtle = crypto.subtle as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of ["encrypt", "decrypt", "digest", "importKey"]) {
    const original = subtle[name]!.bind(subtle);
    const counted = async (...args: unknown[]) => {
      working++;
      try {
        return await original(...args);
      } finally {
        working--;
      }
    };
    Object.defineProperty(subtle, name, { value: counted, configurable: true });
  }
}
countCryptography();

/** The clock of one process: no timer fires once the process is dead. */
export class ModelSystem extends ManualSystem {
  #dead = false;

  die(): void {
    this.#dead = true;
  }

  override after(ms: number, run: () => void): () => void {
    return super.after(ms, () => {
      if (!this.#dead) run();
    });
  }

  override async settle(): Promise<void> {
    await super.settle();
    while (working > 0) {
      while (working > 0) await nextTurn();
      await super.settle();
    }
  }
}
