import { execFileSync } from 'node:child_process'
import type { NodeKey } from '../../src/network/transport/node-key.ts'

/** Self-signed certificate of a node's key, as PEM. */
export const certificatePem = ({ privateKey }: NodeKey): string => {
  const input = privateKey.export({ type: 'pkcs8', format: 'pem' })
  const args = ['req', '-x509', '-new', '-key', '/dev/stdin', '-subj', '/CN=node', '-days', '2']
  return execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] })
}
