import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { isWrite } from "../../support/faulty-storage.ts";

/** Parts of a storage that break together. */
const PARTS: readonly ((operation: string) => boolean)[] = [
  isWrite,
  () => true,
  (operation) => !isWrite(operation),
  (operation) => operation === "calls.update",
  (operation) => operation === "events.append",
  (operation) => operation === "instances.update",
  (operation) => operation === "calls.claimNext",
  (operation) => operation.startsWith("calls."),
  (operation) => operation.startsWith("instances."),
];

const none = () => false;

/** Faults of a run's database; they outlive every process. */
export class StorageFaults {
  #fails: (operation: string) => boolean = none;
  #hangs: (operation: string) => boolean = none;
  #healed: () => void = () => {};
  #healing: Promise<void> = Promise.resolve();
  #holding = 0;
  #letGo: (() => void)[] = [];
  #losing = 0;

  /** True while there is a fault. */
  get any(): boolean {
    return this.#fails !== none || this.#hangs !== none || this.#letGo.length > 0 || this.#losing > 0;
  }

  /** True if an operation may hang forever. */
  get waits(): boolean {
    return this.#hangs !== none || this.#letGo.length > 0;
  }

  /** Makes a part of the storage throw. */
  fail(which: number): void {
    this.#fails = PARTS[which % PARTS.length] ?? none;
  }

  /** Makes a part of the storage hang until it heals. */
  hang(which: number): void {
    if (this.#hangs === none)
      this.#healing = new Promise((resolve) => {
        this.#healed = resolve;
      });
    this.#hangs = PARTS[which % PARTS.length] ?? none;
  }

  /** Makes the n-th write from this point wait after its ids were assigned and before its commit. */
  holdWrite(n: number): void {
    this.#holding = n;
  }

  letGo(): void {
    this.#holding = 0;
    for (const letGo of this.#letGo.splice(0)) letGo();
  }

  /** Makes the n-th write from this point succeed, but lose its result. */
  loseAnswer(n: number): void {
    this.#losing = n;
  }

  heal(): void {
    this.#fails = this.#hangs = none;
    this.#losing = 0;
    this.#healed();
    this.letGo();
  }

  /** Faults before an operation reaches the database. */
  async before(operation: string): Promise<void> {
    if (this.#holding > 0 && isWrite(operation) && --this.#holding === 0)
      await new Promise<void>((resolve) => void this.#letGo.push(resolve));
    if (this.#hangs(operation)) await this.#healing;
    if (this.#fails(operation)) throw new StorageUnavailable("the database is locked");
  }

  /** Faults on the way back of a result. */
  after(operation: string): void {
    if (this.#losing > 0 && isWrite(operation) && --this.#losing === 0)
      throw new StorageUnavailable("the connection broke before the answer came");
  }
}
