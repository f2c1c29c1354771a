import { href } from "../shell/place.ts";
import { signedIn } from "../shell/session.ts";

/** Below code to paste: it needs a token, which the console makes. With the sessions of a program it makes none. */
export function TokenHint({ text, link }: { readonly text: string; readonly link: string }) {
  return (
    <p class="quiet small">
      {text} {signedIn.value?.accounts && <a href={href("/tokens")}>{link}</a>}
    </p>
  );
}
