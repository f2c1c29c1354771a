import { href } from "../shell/place.ts";
import { signedIn } from "../shell/session.ts";

/**
 * Hint below code to paste: it needs a token. The link leads to the console's tokens, which are missing with the
 * sessions of an embedding program.
 */
export function TokenHint({ text, link }: { readonly text: string; readonly link: string }) {
  return (
    <p class="quiet small">
      {text} {signedIn.value?.accounts && <a href={href("/tokens")}>{link}</a>}
    </p>
  );
}
