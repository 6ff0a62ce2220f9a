import type { Hex } from '@tandem/base/bytes.ts'
import type { Council } from '../../chain/council/council.ts'
import type { MembersPort } from '../../network/ports.ts'

/**
 * Members of the consensus channels: the councils of the open height and of its neighbours, so that a change of council excludes no
 * node that is a height ahead or behind. A jailed member stays as long as it serves, since its votes still count. Computed once per
 * head, since every message needs it.
 */
export const membersPort = (
  council: Pick<Council, 'committee' | 'memberStatuses'>,
  head: () => number,
  onKeyInUse: (nodeId: string) => void,
): MembersPort => {
  let gatheredAt = -1
  let members: ReadonlySet<Hex> = new Set()
  const gathered = (): ReadonlySet<Hex> => {
    const number = head()
    if (number === gatheredAt) return members
    gatheredAt = number
    const heights = [number, number + 1, number + 2]
    const listed = heights.flatMap(at => council.memberStatuses(at) ?? []).filter(({ status }) => status !== 'jailed')
    const serving = heights.flatMap(at => council.committee(at)?.members ?? [])
    members = new Set([...listed.map(({ validator }) => validator), ...serving])
    return members
  }
  return {
    isMember: address => gathered().has(address),
    memberAt: (number, index) => council.committee(number)?.members[index],
    onKeyInUse,
  }
}
