/// <reference path="../../node_modules/bun-types/test.d.ts" />
