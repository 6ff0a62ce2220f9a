import { readFileSync } from 'node:fs'

/** Milliseconds of processor time of a process so far (Linux); the kernel counts in hundredths of a second. */
export const cpuMsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Bytes that a process has had written so far (Linux), its own and those of a database's compactions. */
export const writtenBytesOf = (pid: number): number =>
  Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])

/** Resident memory of a process, and of it what files have, such as mapped tables, and what none has, MiB (Linux). */
export const memoryMiB = (pid: number | undefined) => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1_024)
  return { rssMiB: of('VmRSS'), anonymousMiB: of('RssAnon'), fileMiB: of('RssFile') }
}
