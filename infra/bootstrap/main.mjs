// @ts-check
/**
 * Entry point of `npm start`, `npm test` and the other scripts. It imports nothing before it knows the release of Node,
 * because an older Node cannot read the other files, and could say nothing but what it did not understand.
 */
const NODE_MIN = 18

if (Number(process.versions.node.split('.')[0]) >= NODE_MIN) void import('./bootstrap.mjs')
else {
  const found = `this is ${process.version} (${process.execPath})`
  console.error(`\nfantail: install Node ${NODE_MIN} or newer together with npm; ${found}\n`)
  process.exitCode = 1
}
