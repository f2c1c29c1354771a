import { startFreeswitch } from "./freeswitch.ts";
import { pbxTests } from "./pbx-tests.ts";

pbxTests("FreeSWITCH", startFreeswitch);
