/** A resource of several networks: opened by the first user, closed with the last. */
export interface Shared<Thing> {
  /** Returns the resource, always the same. */
  open(): Promise<Thing>;
  /** Called once by each of its users, when it no longer needs the resource. */
  release(): Promise<void>;
}

/** Shares a resource between several users. @param users their number */
export function shareResource<Thing extends { close(): Promise<void> }>(
  users: number,
  open: () => Promise<Thing>,
): Shared<Thing> {
  let opening: Promise<Thing> | undefined;
  let remainingUsers = users;
  return {
    open: () => (opening ??= open()),
    async release() {
      if (--remainingUsers === 0) await (await opening)?.close();
    },
  };
}
