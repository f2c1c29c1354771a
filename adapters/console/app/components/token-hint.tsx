import { href } from "../shell/place.ts";
import { signedIn } from "../shell/session.ts";

/**
 * Hint below code to paste, which needs a token. The link leads to the console's tokens; it is missing if an embedding
 * program manages the sessions.
 */
export function TokenHint({ text, link }: { readonly text: string; readonly link: string }) {
  return (
    <p class="quiet small">
      {text} {signedIn.value?.accounts && <a href={href("/tokens")}>{link}</a>}
    </p>
  );
}
