#!/usr/bin/env node
// Starts the native program. `install.js` replaces this file by the program itself; it stays where scripts are not run.
"use strict";
const { spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const here = path.dirname(fs.realpathSync(__filename));
const { program } = require(path.join(here, "..", "platform.js"));

try {
  const done = spawnSync(program(), process.argv.slice(2), { stdio: "inherit" });
  if (done.error) throw done.error;
  if (done.signal) process.kill(process.pid, done.signal);
  process.exitCode = done.status === null ? 1 : done.status;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
