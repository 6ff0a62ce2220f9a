import type { Committee, NodeOfMany } from '../../test/support/committee.ts'
import { scrape } from '../../test/support/scrape.ts'
import { print } from './figures.ts'
import { load } from './load.ts'

interface PeerState {
  readonly score: number
}

/** Validators and full nodes under a steady load spread over all of them: ends with false when honest nodes charge or leave each other. */
export const gossip = async (
  committee: Committee,
  {
    fullNodes,
    perSecond,
    seconds,
  }: { readonly fullNodes: number; readonly perSecond: number; readonly seconds: number },
  labels: object,
): Promise<boolean> => {
  for (let index = 0; index < fullNodes; index++) {
    const node = await committee.add(`full${index}`)
    await node.start(committee.nodes.filter(other => other !== node))
  }
  const before = await Promise.all(committee.nodes.map(countsOf))
  const isOne = await load(committee, seconds, { ...labels, fullNodes, perSecond }, perSecond)
  let isCalm = true
  for (const [index, node] of committee.nodes.entries()) {
    const [was, is] = [before[index] as Counts, await countsOf(node)]
    const peers = await node.operator<readonly PeerState[]>('admin_peers')
    const figures = {
      messagesSent: is.messages - was.messages,
      megabytesSent: Math.round((is.bytes - was.bytes) / 1e6),
      offences: is.offences,
      peers: peers.length,
      worstScore: Math.min(...peers.map(({ score }) => score)),
    }
    isCalm &&= is.offences === 0 && figures.worstScore === 0 && peers.length === committee.nodes.length - 1
    print('gossip', { ...labels, node: node.name, seconds, ...figures })
  }
  return isOne && isCalm
}

interface Counts {
  readonly messages: number
  readonly bytes: number
  readonly offences: number
}

const countsOf = async (node: NodeOfMany): Promise<Counts> => {
  const samples = [...(await scrape(node.ready.metrics))]
  const sum = (start: string) =>
    samples.filter(([name]) => name.startsWith(start)).reduce((total, [, value]) => total + value, 0)
  return {
    messages: sum('network_messages_total{event="sent"'),
    bytes: sum('network_bytes_total{direction="sent"'),
    offences: sum('network_penalties_total'),
  }
}
