/** The process of every command of `fantail` but the services. */
import { commandLine } from './command-line.ts'

// A reader that has read enough, such as `head`, closes stdout.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await commandLine(process.argv.slice(2))
