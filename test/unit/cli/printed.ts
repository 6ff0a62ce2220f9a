import { vi } from 'vitest'

/** Text that a command printed on the standard output, or on another stream, while `work` ran. */
export const printed = async (
  work: () => Promise<unknown>,
  stream: 'stdout' | 'stderr' = 'stdout',
): Promise<string> => {
  const write = vi.spyOn(process[stream], 'write').mockReturnValue(true)
  try {
    await work()
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}
