import type { Context } from "../context.ts";
import type { OpenNetwork } from "../use-cases.ts";

/** The networks that are open to a user, in the order they were mounted. */
export async function openNetworks(
  { access, telephony }: Pick<Context, "access" | "telephony">,
  userId: string,
): Promise<OpenNetwork[]> {
  const names = await access.openTo(userId);
  return names.map((name) => {
    const capabilities = telephony.get(name)?.capabilities;
    const { linking = "code", callerIds = null, receivesAudio = true } = capabilities ?? {};
    return { name, linking, receivesAudio, callerIds };
  });
}
