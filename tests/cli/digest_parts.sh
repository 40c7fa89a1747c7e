#!/bin/sh
# The same digest for every way to run a campaign: random campaigns of every search method, run at once and in parts. A
# part is stopped by a limit, a signal or a kill; the next one continues, extended or not, with other batches.
#
#   SEED   of the campaigns (1)      ROUNDS   how many (24)      ONLY_METHOD   of this method alone
#   QUICK=1    fewer rounds
. "$(dirname "$0")/../scratch.sh"
rounds=${ROUNDS:-24}
[ -z "${QUICK:-}" ] || rounds=${ROUNDS:-11}
cores=$(getconf _NPROCESSORS_ONLN)

# pick WORD...: sets `value` to one of them
pick()
{
    random 1 $#
    shift $((value - 1))
    value=$1
}

points() # N: a list of N different points
{
    n=0 listed=
    while [ "$n" -lt "$1" ]; do
        listed="$listed{x1: $((n / 10 - 4)).$((n % 10)), x2: $((n * 3 % 9 - 4))}, "
        n=$((n + 1))
    done
    echo "[${listed%, }]"
}

# The search of the spec; `sized` sets its size. least, most: range of the sizes.
search_of()
{
    ranges='over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5], integer: true}}' least=1 most=90
    case $1 in
    random | sobol) search="method: $1, trials: 9, $ranges" ;;
    sobol_indices) search="method: $1, samples: 9, $ranges" least=8 most=25 ;;
    latin_hypercube) search="method: $1, trials: 80, $ranges" least=80 most=80 ;;
    morris)
        search="method: $1, trajectories: 25, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}" least=25 most=25
        ;;
    centered) search="method: $1, over: {x1: {linspace: [-5, 5, 31]}, x2: {linspace: [-5, 5, 30]}}" least=31 most=31 ;;
    grid) search="method: $1, over: {x1: {arange: [-5, -4, 1]}, x2: {linspace: [-5, 5, 9]}}" most=10 ;;
    list) search="method: $1, points: [{x1: 1, x2: 1}]" ;;
    csv) search="method: $1, csv: points.csv" ;;
    cmaes)
        pick '' 'searches: 3, ' 'searches: 2, outer: {x4: [-1, 2]}, ' 'uncertainty: true, ' 'bounds: penalty, '
        search="method: $1, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, cmaes: {${value}stop: {}}" most=40
        ;;
    restarts)
        pick ipop bipop
        search="method: cmaes, $ranges, cmaes: {searches: 2, restarts: $value, restarts_max: 3, stop: {generations: 9}}"
        least=30 most=250
        ;;
    adam | lbfgs)
        pick '' 'searches: 3, ' 'start: random, ' 'difference: 0.1, ' 'rate: 1, ' 'stop: {trials: 60}, '
        search="method: $1, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, $1: {$value}" most=40
        ;;
    nsga2)
        pick '' 'stop: {stagnation: 3}, ' 'patience: 2, '
        search="method: nsga2, $ranges, nsga2: {searches: 3, population: 8, $value}" most=14
        ;;
    esac
}

# The --set that gives the campaign its size.
sized()
{
    case $method in
    random | sobol | latin_hypercube) echo "search.trials=$1" ;;
    sobol_indices) echo "search.samples=$1" ;;
    morris) echo "search.trajectories=$1" ;;
    centered) echo "search.over.x1={linspace: [-5, 5, $1]}" ;;
    grid) echo "search.over.x1={arange: [-5, $(($1 - 5)), 1]}" ;;
    list) echo "search.points=$(points "$1")" ;;
    csv)
        points "$1" | tr -d '[]{} x' | tr ',' '\n' | sed 's/.*://' | paste -d, - - | sed '1i x1,x2' >"points$1.csv"
        echo "search.csv=points$1.csv"
        ;;
    cmaes) echo "search.cmaes.stop.generations=$1" ;;
    restarts) echo "search.cmaes.stop.trials=$1" ;;
    adam | lbfgs) echo "search.$method.stop.iterations=$1" ;;
    nsga2)
        [ "$budget" = trials ] || echo "search.nsga2.stop.generations=$1"
        [ "$budget" != trials ] || echo "search.nsga2.stop.trials=$((8 * $1))"
        ;;
    esac
}

write_spec()
{
    pick '' 'exclude: ["x1 > 3"]' 'exclude: ["x1 + x2 > 4", "x1 < -4.5"]'
    exclude=$value
    case $method in list | csv | centered | morris | sobol_indices) exclude= ;; esac
    [ "$method" != restarts ] || exclude= # if a small restart excludes all trials, the spec has an error
    pick 'f' 'f + log(x1 + 4)' 'f' # the logarithm of a negative number fails
    objective="minimize: \"$value\""
    [ "$method" != nsga2 ] || objective="minimize: [f, \"abs(x1 + 2) + log(x2 + 4.5)\"]"
    pick 1 2 3
    count=$value
    pick true false
    case "$search" in *uncertainty*) value=false ;; esac
    common=$value
    pick true false
    cat >"$1" <<SPEC
version: 1
experiment: parts
seed: $state
model: bbob
simulation: {function: rosenbrock, dimension: 4}
search: {$search${exclude:+, $exclude}}
objective: {$objective}
replicates: {count: $count, common: $common, store: $value, perturb: {x3: {normal: [0, 1.0e-3]}}}
record: {trajectories: {select: {best: 3, every: 7, failures: 2}}}
SPEC
}

# go PROGRAM NAME SIZE OPTION...
go()
{
    program=$1 name=$2 size=$3
    shift 3
    random 1 "$cores"
    threads=$value
    random 1 40
    "$program" run spec.yaml --name "$name" --progress none --extend --threads "$threads" --batch "$value" \
        --set "$(sized "$size")" "$@" >out 2>&1
}

# Runs campaign `parts` up to this size; something may stop the run.
part()
{
    pick all trials wall kill signal failures retry
    how=$value
    case $how in
    all) go "$HOPSCOTCH" parts "$1" ;;
    retry) go "$HOPSCOTCH" parts "$1" --retry failed ;;
    failures) go "$HOPSCOTCH" parts "$1" --set limits.failures=5% ;;
    wall) go "$HOPSCOTCH" parts "$1" --set limits.wall_time=0.02s ;;
    trials)
        random 1 120
        how="$how=$value"
        go "$HOPSCOTCH" parts "$1" --set limits.trials="$value"
        ;;
    kill)
        random 3 250
        how="$how=$value"
        [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ] || return
        (
            export HOPSCOTCH_FAULT="sql:$value:KILL"
            go "$HOPSCOTCH_FAULTS_PROGRAM" parts "$1"
        ) 2>/dev/null
        ;;
    signal)
        random 20 200
        timeout -s INT "0.$(printf %03d "$value")" "$HOPSCOTCH" run spec.yaml --name parts --progress none --extend \
            --batch 3 --set "$(sized "$1")" >out 2>&1
        ;;
    esac
    said="$said $1($how)"
}

# Runs the campaign in up to four parts, of sizes that grow up to the whole's, then the rest.
in_parts()
{
    random 1 4
    left=$value size=$least said=
    while [ "$left" -gt 0 ]; do
        random "$size" "$whole"
        size=$value
        part "$size"
        left=$((left - 1))
    done
    go "$HOPSCOTCH" parts "$whole"
}

# Both campaigns stop at the same trial. Methods with trials known by number, and methods that learn, are equal there
# too.
both_stopped()
{
    random 1 60
    limit=$value
    random "$least" "$whole"
    smaller=$value
    rm -rf results
    go "$HOPSCOTCH" whole "$whole" --set limits.trials="$limit"
    go "$HOPSCOTCH" parts "$smaller" --set limits.trials="$limit"
    go "$HOPSCOTCH" parts "$whole" --set limits.trials="$limit"
    [ "$(digest whole)" = "$(digest parts)" ]
    check $? "seed $begun, $method: stopped at trial $limit, with $smaller, then $whole"
}

methods='random sobol sobol_indices cmaes nsga2 adam lbfgs restarts grid list csv latin_hypercube morris centered'
with_faults "kills"
round=0
while [ "$round" -lt "$rounds" ]; do
    begun=$state
    # shellcheck disable=SC2086
    set -- ${ONLY_METHOD:-$methods}
    shift $((round % $#))
    method=$1 round=$((round + 1))
    search_of "$method"
    pick trials generations
    budget=$value
    echo 'x1,x2' >points.csv
    echo '1,1' >>points.csv
    write_spec spec.yaml
    random "$least" "$most"
    whole=$value
    rm -rf results
    go "$HOPSCOTCH" whole "$whole"
    expected=$(digest whole)
    in_parts
    got=$(digest parts)
    [ "${#expected}" -eq 64 ] && [ "$got" = "$expected" ]
    check $? "seed $begun, $method: $whole at once is$said, then the rest"
    [ "$got" = "$expected" ] || cat spec.yaml
    "$HOPSCOTCH" doctor parts >out 2>&1
    check $? "seed $begun, $method: the doctor finds nothing"
    case $method in grid | list | csv) ;; *) both_stopped ;; esac
done
exit $status
