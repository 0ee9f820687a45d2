// Replaces the script `bin/lockstep` by the native program, so that no Node is started for a command. If that fails, the script
// stays and works.
"use strict";
const fs = require("fs");
const path = require("path");
const { program } = require("./platform.js");

if (process.platform !== "win32") {
  const target = path.join(__dirname, "bin", "lockstep");
  const fresh = `${target}.new`;
  try {
    const native = program();
    try {
      fs.linkSync(native, fresh);
    } catch {
      fs.copyFileSync(native, fresh);
    }
    fs.chmodSync(fresh, 0o755);
    fs.renameSync(fresh, target);
  } catch (error) {
    fs.rmSync(fresh, { force: true });
    console.error(`lockstep: every command starts through Node: ${error.message}`);
  }
}
