import { parentPort, threadId } from 'node:worker_threads'

/* Stands in for the worker of state tests: what it does with a file follows from the file's name. */

const channel = new BroadcastChannel('hanging')

const answer = (file: string) =>
  parentPort?.postMessage({ file, lines: `${file} by ${threadId}\n`, passed: 1, failed: 0, skipped: 0 })

parentPort?.on('message', (file: string) => {
  if (file.startsWith('leave')) process.exit(3)
  if (file.startsWith('throw')) throw new Error('out of something')
  if (file.startsWith('hang')) {
    // Signs of life, ten times as often as the test looks for them.
    setInterval(() => channel.postMessage(threadId), 5)
    return
  }
  if (file.startsWith('slow')) setTimeout(answer, 100, file)
  else answer(file)
})
