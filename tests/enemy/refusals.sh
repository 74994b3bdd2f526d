#!/bin/sh
# refusals.sh BINARY quick|all - calls that a platform lacks are findings: every command ends in
# order, names call and error, and goes on with the rest; an error that is a bug still aborts.
# The CPU device fails the calls (RIFT_CPU_FAIL). quick: each call once, few through every command;
# all: each with each error, through every command.
set -u
rift=${1:?usage: refusals.sh BINARY quick|all}
size=${2:?usage: refusals.sh BINARY quick|all}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

calls="cudaStreamBeginCapture cudaStreamEndCapture cudaStreamIsCapturing cudaGraphInstantiate
	cudaGraphUpload cudaGraphLaunch cudaGraphGetNodes cudaGraphNodeGetType
	cudaGraphNodeGetDependencies cudaGraphKernelNodeGetParams
	cudaGraphExecKernelNodeSetParams cudaGraphExecUpdate cudaGraphDestroy
	cudaGraphExecDestroy cudaHostAlloc cudaHostGetDevicePointer cudaHostRegister
	cudaHostUnregister cudaMallocHost cudaFreeHost cudaMallocAsync cudaFreeAsync
	cudaEventCreate cudaEventCreateWithFlags cudaEventRecord cudaEventSynchronize
	cudaEventElapsedTime cudaEventDestroy cudaStreamWaitEvent"
errors="NotSupported NotPermitted SymbolNotFound SystemDriverMismatch OperatingSystem Unknown
	InitializationError
	StreamCaptureUnsupported StreamCaptureInvalidated StreamCaptureImplicit"

# Ends with one of these codes, and where it is 2 the output names call and error.
expect() { # CALL ERROR COMMAND...
	call=$1 error=cudaError$2
	shift 2
	RIFT_CPU_FAIL=$call=$error timeout 60 "$rift" "$@" >"$dir/out" 2>&1 </dev/null
	rc=$?
	case $rc in
	0) ;; # it does without the call
	2)
		grep -q "not supported here: $call: $error" "$dir/out" || rc="2, unnamed"
		;;
	*) rc="$rc, not 0 or 2" ;;
	esac
	case $rc in
	0 | 2) passed=$((passed + 1)) ;;
	*)
		failed=$((failed + 1))
		echo "refusals: rift $* with $call=$error: exit code $rc: $(tail -n 2 "$dir/out")"
		;;
	esac
}

# A sweep records stream launches whatever graphs lack.
expect_sweep() { # CALL ERROR
	rm -f "$dir"/s.jsonl*
	expect "$1" "$2" sweep launch us=0 --depth 1,4 --mode stream,graph --quick --processes 2 \
		--rounds 1 --warm-up 0.01 --output "$dir/s.jsonl"
	if "$rift" show --check "$dir/s.jsonl" >"$dir/check" 2>&1 || [ $? = 2 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "refusals: the record of a sweep with $1=cudaError$2: $(tail -n 1 "$dir/check")"
	fi
	case $(grep -c '^{"record":"point".*"mode":"stream".*"status":"ok"' "$dir/s.jsonl") in
	4) passed=$((passed + 1)) ;;
	*)
		failed=$((failed + 1))
		echo "refusals: a sweep with $1=cudaError$2 lost points of stream launches"
		;;
	esac
}

# A network has streams and events of its own, and captures a step when it is set up.
network() { # CALL ERROR
	for mode in stream graph; do
		expect "$1" "$2" run mlp batch=4 hidden=16 images=64 --mode $mode --depth 2 --samples 2
	done
}

# Taking and giving back memory is never captured: such an error there is a bug (common/refusal.h).
memory() { # CALL ERROR
	case $1=$2 in
	cudaMalloc*=StreamCapture* | cudaFree*=StreamCapture*) return ;;
	esac
	for way in async pinned register; do
		expect "$1" "$2" run memory bytes=64k call=$way --depth 2 --samples 3
	done
	for host in pinned registered; do
		expect "$1" "$2" run transfer bytes=64k host=$host --depth 2 --samples 3
	done
}

commands() { # CALL ERROR
	expect "$1" "$2" doctor --json
	expect "$1" "$2" run graph length=10 --depth 4 --samples 3
	expect "$1" "$2" run launch us=0 --mode graph --depth 8 --samples 3
	expect "$1" "$2" run launch us=0 streams=4 --depth 8 --samples 3
	network "$1" "$2"
	memory "$1" "$2"
	expect_sweep "$1" "$2"
}

for each in $calls; do
	if [ "$size" = all ]; then
		for error in $errors; do
			commands "$each" "$error"
			expect "$each" "$error" probe --processes 1 --json
		done
	else
		expect "$each" NotSupported doctor --json
		expect "$each" NotSupported run graph length=10 --depth 4 --samples 3
	fi
done
if [ "$size" != all ]; then
	for each in cudaStreamEndCapture cudaEventRecord; do
		commands "$each" StreamCaptureUnsupported
	done
	network cudaEventCreateWithFlags NotSupported
	expect cudaEventRecord NotSupported probe --processes 1 --json
fi

# What no platform lacks is a bug: it aborts and is not taken for a finding.
for call in cudaGraphInstantiate cudaStreamBeginCapture; do
	for error in InvalidValue IllegalAddress; do
		RIFT_CPU_FAIL=$call=cudaError$error "$rift" run graph length=10 >"$dir/out" 2>&1
		if [ $? = 134 ] && ! grep -q "not supported here" "$dir/out"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "refusals: $call=cudaError$error is no finding"
		fi
	done
done
echo "refusals: $passed passed, $failed failed"
[ "$failed" = 0 ]
