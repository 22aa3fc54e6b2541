/** Handles `--help` for every command: prints the usage to stdout and exits with 0. */

export function isHelp(args: string[]): boolean {
  return args.includes('--help') || args.includes('-h') || args[0] === 'help'
}

/** The exit code. */
export function help(usage: string): 0 {
  console.log(usage)
  return 0
}
