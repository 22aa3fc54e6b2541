/** The process of every `fantail` command except the services. */
import { commandLine } from './command-line.ts'

// A reader that needs no more, such as `head`, closes stdout.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await commandLine(process.argv.slice(2))
