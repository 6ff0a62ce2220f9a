import { InvalidArgumentError, Option } from 'commander'
import { createClientAddress } from '../../../rpc/transport/clients/client-address.ts'
import type { ClientRules } from '../../../rpc/transport/clients/clients.ts'
import { integerOption, listOption } from './options.ts'

export interface ProxyFlags {
  readonly trustProxy?: number | readonly string[]
  readonly proxyHeader: 'x-forwarded-for' | 'forwarded'
}

/** A number of proxies, or a list of their addresses. */
export const trustProxyOption = (text: string): number | readonly string[] => {
  if (/^\d+$/.test(text)) return integerOption(1, 10)(text)
  const proxies = listOption(text)
  for (const proxy of proxies) checkProxy(proxy)
  return proxies
}

const checkProxy = (proxy: string): void => {
  try {
    createClientAddress({ proxies: [proxy], header: 'x-forwarded-for' })
  } catch {
    throw new InvalidArgumentError(
      `"${proxy}" is no address or subnet: give a number of proxies, or addresses such as loopback, 10.0.0.1, 10.0.0.0/8.`,
    )
  }
}

/** Options of a server behind proxies; `proxies` names them in the help. */
export const proxyOptions = (proxies: string): readonly Option[] => [
  new Option(
    '--trust-proxy <proxies>',
    `${proxies}: how many, or their comma-separated addresses and subnets (loopback, 10.0.0.0/8)`,
  ).argParser(trustProxyOption),
  new Option('--proxy-header <name>', 'the header in which these proxies name the client')
    .choices(['x-forwarded-for', 'forwarded'])
    .default('x-forwarded-for'),
]

/** Rule of these proxies; none without `--trust-proxy`. */
export const trustProxyOf = ({ trustProxy, proxyHeader }: ProxyFlags): Pick<ClientRules, 'trustProxy'> =>
  trustProxy === undefined ? {} : { trustProxy: { proxies: trustProxy, header: proxyHeader } }
