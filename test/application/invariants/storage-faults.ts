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
  #shouldFail: (operation: string) => boolean = none;
  #shouldHang: (operation: string) => boolean = none;
  #onHealed: () => void = () => {};
  #healPromise: Promise<void> = Promise.resolve();
  #writesUntilHold = 0;
  #heldWrites: (() => void)[] = [];
  #writesUntilLoss = 0;

  /** True while there is a fault. */
  get hasFault(): boolean {
    return (
      this.#shouldFail !== none || this.#shouldHang !== none || this.#heldWrites.length > 0 || this.#writesUntilLoss > 0
    );
  }

  /** True if an operation may hang forever. */
  get mayHang(): boolean {
    return this.#shouldHang !== none || this.#heldWrites.length > 0;
  }

  /** Makes a part of the storage throw. */
  fail(choice: number): void {
    this.#shouldFail = PARTS[choice % PARTS.length] ?? none;
  }

  /** Makes a part of the storage hang until it heals. */
  hang(choice: number): void {
    if (this.#shouldHang === none)
      this.#healPromise = new Promise((resolve) => {
        this.#onHealed = resolve;
      });
    this.#shouldHang = PARTS[choice % PARTS.length] ?? none;
  }

  /** Makes the n-th write from this point wait after its ids were assigned and before its commit. */
  holdWrite(n: number): void {
    this.#writesUntilHold = n;
  }

  releaseWrites(): void {
    this.#writesUntilHold = 0;
    for (const releaseWrites of this.#heldWrites.splice(0)) releaseWrites();
  }

  /** Makes the n-th write from this point succeed, but lose its result. */
  loseResponse(n: number): void {
    this.#writesUntilLoss = n;
  }

  heal(): void {
    this.#shouldFail = this.#shouldHang = none;
    this.#writesUntilLoss = 0;
    this.#onHealed();
    this.releaseWrites();
  }

  /** Faults before an operation reaches the database. */
  async before(operation: string): Promise<void> {
    if (this.#writesUntilHold > 0 && isWrite(operation) && --this.#writesUntilHold === 0)
      await new Promise<void>((resolve) => void this.#heldWrites.push(resolve));
    if (this.#shouldHang(operation)) await this.#healPromise;
    if (this.#shouldFail(operation)) throw new StorageUnavailable("the database is locked");
  }

  /** Faults on a result's way back. */
  after(operation: string): void {
    if (this.#writesUntilLoss > 0 && isWrite(operation) && --this.#writesUntilLoss === 0)
      throw new StorageUnavailable("the connection broke before the response arrived");
  }
}
