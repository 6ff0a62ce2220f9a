import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { LAUNCHER, ROOT } from '../node-process.ts'

/** `tandem mine` in a process of its own. */
export const startMiner = (args: readonly string[]) => {
  const child = spawn(process.execPath, [LAUNCHER, 'mine', ...args], { cwd: ROOT })
  let text = ''
  child.stdout.on('data', data => {
    text += String(data)
  })
  const exit = once(child, 'exit')
  return {
    output: () => text,
    /** Ends it, by default as its user does; resolves to exit code and signal. */
    async stop(signal: NodeJS.Signals = 'SIGINT') {
      child.kill(signal)
      return exit
    },
  }
}
