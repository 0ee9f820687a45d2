// Finds the program of the package for this platform.
"use strict";
const path = require("path");

function program() {
  const name = `lockstep-cli-${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "lockstep.exe" : "lockstep";
  let manifest;
  try {
    manifest = require.resolve(`${name}/package.json`);
  } catch {
    throw new Error(
      `lockstep: the package ${name} is not installed. Either this platform has no build, or npm was told to omit ` +
        `optional dependencies: install again without --omit=optional.`,
    );
  }
  return path.join(path.dirname(manifest), "bin", file);
}

module.exports = { program };
