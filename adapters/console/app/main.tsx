import { render } from "preact";
import { App } from "./shell/app.tsx";
import { startLive as startEventStream } from "./shell/live.ts";
import { startNavigation } from "./shell/place.ts";
import { followSession, loadSignIn } from "./shell/session.ts";
import "./style/main.css";

startNavigation();
followSession();
startEventStream();
const app = document.getElementById("app");
if (app) {
  app.replaceChildren();
  render(<App />, app);
}
await loadSignIn();
