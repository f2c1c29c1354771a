import { startAsterisk } from "./asterisk.ts";
import { pbxTests } from "./pbx-tests.ts";

pbxTests("Asterisk", startAsterisk);
