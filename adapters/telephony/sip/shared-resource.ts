/** A resource that several networks use: opened by the first user, closed when the last one releases it. */
export interface Shared<Thing> {
  /** Opens the resource on the first call; always returns the same one. */
  open(): Promise<Thing>;
  /** Called once by each user when it no longer needs the resource. */
  release(): Promise<void>;
}

/** Shares a resource between several users. @param users number of users */
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
