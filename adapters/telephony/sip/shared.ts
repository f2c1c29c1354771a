/** Something that several networks use: opened for the first, closed with the last of them. */
export interface Shared<Thing> {
  /** Always the same one. */
  open(): Promise<Thing>;
  /** One of its users has no more need of it. Each of them calls it once. */
  release(): Promise<void>;
}

/** @param users how many there are */
export function shared<Thing extends { close(): Promise<void> }>(
  users: number,
  open: () => Promise<Thing>,
): Shared<Thing> {
  let opening: Promise<Thing> | undefined;
  let left = users;
  return {
    open: () => (opening ??= open()),
    async release() {
      if (--left === 0) await (await opening)?.close();
    },
  };
}
