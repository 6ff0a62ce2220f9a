// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Counter} from "../src/Counter.sol";

interface ForkVm {
    function envAddress(string calldata name) external view returns (address);
    function envUint(string calldata name) external view returns (uint256);
    function rollFork(uint256 blockNumber) external;
    function prank(address sender) external;
}

/// Run with `--fork-url`: reads the chain's state, changes its own copy, and moves to earlier blocks of the chain.
contract ForkTest {
    ForkVm constant vm = ForkVm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
    Counter counter;
    uint256 first;

    function setUp() public {
        counter = Counter(vm.envAddress("COUNTER"));
        first = vm.envUint("FIRST_BLOCK");
    }

    function testReadsAndChangesItsCopy() public {
        require(counter.number() == 3, "the head");
        counter.increment();
        require(counter.number() == 4, "the copy");
    }

    function testRollsToEarlierBlocks() public {
        vm.rollFork(first);
        require(block.number == first, "the number");
        require(counter.number() == 1, "one");
        vm.rollFork(first + 2);
        require(counter.number() == 3, "three");
        vm.rollFork(first + 1);
        require(counter.number() == 2, "two");
    }
}
