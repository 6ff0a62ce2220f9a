import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { errorMessage } from '../../../../../src/cli/shared/output.ts'
import { assertPortFree, nameListenOption } from '../../../../../src/cli/shared/process/free-port.ts'

const explained = async (port: number, host: string, given: Parameters<typeof nameListenOption>[1]): Promise<string> =>
  errorMessage(await nameListenOption(await assertPortFree(port, host).catch(error => error), given))

test('a port in use is told with the option that named it, and with one that is free', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect(await explained(port, '127.0.0.1', { '--port': 1, '--metrics-port': port })).toMatch(
    new RegExp(
      `^Port ${port} is in use\\. Stop the other program, or choose another --metrics-port: \\d+ is free, 0 picks a free one\\.$`,
    ),
  )
  expect(await explained(port, '127.0.0.1', {})).toMatch(/ or choose another --port: /)
})

test('a host without an address, and an address of another machine, are told with their options', async () => {
  const given = { '--host': '127.0.0.1', '--metrics-host': 'foo.invalid' }
  expect(await explained(0, 'foo.invalid', given)).toBe('--metrics-host: foo.invalid has no address.')
  expect(await explained(0, 'foo.invalid', {})).toBe('--host: foo.invalid has no address.')
  expect(await explained(0, '192.0.2.1', {})).toBe('This machine has no address 192.0.2.1. Choose another --host.')
})
